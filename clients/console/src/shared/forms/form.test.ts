import { expect, it } from "vitest";
import { bind } from "./form";

function form() {
  const values = { name: "", place: "", stock: 1 as number | "", active: true };
  return { values, ...bind(values, (part) => Object.assign(values, part)) };
}

it("binds texts", () => {
  const { values, text } = form();
  text("name").onChange({ currentTarget: { value: "Cart" } });
  expect(text("name").value).toBe("Cart");
  expect(values.name).toBe("Cart");
});

it("maps no choice to the empty text", () => {
  const { values, choice } = form();
  expect(choice("place").value).toBeNull();
  choice("place").onChange("here");
  expect(choice("place").value).toBe("here");
  choice("place").onChange(null);
  expect(values.place).toBe("");
});

it("maps invalid numbers to empty", () => {
  const { values, number } = form();
  number("stock").onChange(12);
  expect(values.stock).toBe(12);
  number("stock").onChange("-");
  expect(number("stock").value).toBe("");
});

it("binds switches", () => {
  const { values, flag } = form();
  flag("active").onChange({ currentTarget: { checked: false } });
  expect(values.active).toBe(false);
});
