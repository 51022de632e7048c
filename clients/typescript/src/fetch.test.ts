import { afterEach, expect, it, vi } from "vitest";
import { abortableFetch } from "./fetch.js";

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A server that never ends its response and ignores signals. */
function deaf(contentType: string) {
  const cancelled = vi.fn();
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array([1])),
    cancel: cancelled,
  });
  const response = new Response(body, { headers: { "Content-Type": contentType } });
  vi.stubGlobal("fetch", async () => response);
  return { cancelled, response };
}

it.each(["application/connect+proto", "application/grpc-web+proto"])(
  "ends a stream of %s with its signal",
  async (kind) => {
    const { cancelled } = deaf(kind);
    const leave = new AbortController();
    const response = await abortableFetch("/", { signal: leave.signal });
    expect(response.headers.get("Content-Type")).toBe(kind);
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value).toEqual(new Uint8Array([1]));
    leave.abort();
    await expect(reader?.read()).rejects.toThrow();
    expect(cancelled).toHaveBeenCalledOnce();
  },
);

it("does not change other responses", async () => {
  const { response } = deaf("application/json");
  const signal = new AbortController().signal;
  expect(await abortableFetch("/", { signal })).toBe(response);
});
