import {
  type ButtonProps,
  type CheckboxProps,
  createTheme,
  type DrawerProps,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
  type MenuProps,
  type ModalProps,
  type NotificationProps,
  type PopoverProps,
  type TableProps,
  type TooltipProps,
  type VariantColorsResolver,
} from "@mantine/core";
import { filterOptions } from "../search/filters";
import classes from "./theme.module.css";

const tide: MantineColorsTuple = [
  "#e8f6f7",
  "#d2ecee",
  "#a4d9dd",
  "#72c3ca",
  "#4ab0b9",
  "#2b9ca6",
  "#167d87",
  "#0f6b75",
  "#0b565e",
  "#063f46",
];

const gray: MantineColorsTuple = [
  "#f6f7f7",
  "#eceef0",
  "#dfe3e6",
  "#cad0d5",
  "#a9b2b9",
  "#808b94",
  "#606b75",
  "#46515a",
  "#2e373f",
  "#1a2127",
];

const dark: MantineColorsTuple = [
  "#e4e9ed",
  "#b9c2ca",
  "#97a2ac",
  "#6b7782",
  "#435059",
  "#323d45",
  "#252e35",
  "#1a2127",
  "#12181c",
  "#0c1114",
];

const primary = "tide";

/** Filled components may have a tenant's color, text color and border. */
const variantColorResolver: VariantColorsResolver = (input) => {
  const colors = defaultVariantColorsResolver(input);
  if (input.variant !== "filled" || input.color !== primary) return colors;
  return { ...colors, color: "var(--on-accent)", border: "1px solid var(--accent-edge)" };
};

/** The theme. Sizes are one step smaller than Mantine's, because staff see a lot at once. */
export function theme(close: string) {
  const dialog = {
    closeButtonProps: { "aria-label": close },
    overlayProps: { backgroundOpacity: 0.28 },
  };
  const dialogClasses = {
    content: classes.raised,
    header: classes.raised,
    title: classes.dialogTitle,
  };
  return createTheme({
    colors: { tide, gray, dark },
    primaryColor: primary,
    variantColorResolver,
    primaryShade: { light: 7, dark: 6 },
    black: "#1a2127",
    fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", sans-serif',
    fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace',
    fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
    lineHeights: { xs: "1.4", sm: "1.45", md: "1.5", lg: "1.5", xl: "1.4" },
    headings: {
      fontWeight: "620",
      textWrap: "balance",
      sizes: {
        h1: { fontSize: "22px", lineHeight: "1.25" },
        h2: { fontSize: "16px", lineHeight: "1.35" },
        h3: { fontSize: "14px", lineHeight: "1.4" },
      },
    },
    radius: { xs: "4px", sm: "6px", md: "8px", lg: "12px", xl: "18px" },
    defaultRadius: "md",
    cursorType: "pointer",
    respectReducedMotion: true,
    // By name, because importing the components here would load them with every page.
    components: {
      // Who searches leaves out accents and case.
      ...Object.fromEntries(
        ["Select", "MultiSelect", "Autocomplete", "TagsInput"].map((name) => [
          name,
          { defaultProps: { filter: filterOptions } },
        ]),
      ),
      ActionIcon: { defaultProps: { variant: "subtle", color: "gray" } },
      Button: {
        // The variant is explicit, or the resolver above does not set the border.
        defaultProps: { variant: "filled" } satisfies ButtonProps,
        classNames: { label: classes.buttonLabel },
      },
      Checkbox: { defaultProps: { iconColor: "var(--on-accent)" } satisfies CheckboxProps },
      Combobox: { classNames: { dropdown: classes.raised } },
      Drawer: {
        defaultProps: { ...dialog, position: "right", size: 460 } satisfies Partial<DrawerProps>,
        classNames: dialogClasses,
      },
      Fieldset: { classNames: { legend: classes.label } },
      Input: { classNames: { wrapper: classes.inputWrapper, input: classes.input } },
      InputWrapper: { classNames: { label: classes.label } },
      Menu: {
        defaultProps: { shadow: "md", position: "bottom-end" } satisfies MenuProps,
        classNames: { dropdown: classes.raised },
      },
      Modal: {
        defaultProps: { ...dialog, centered: true } satisfies Partial<ModalProps>,
        classNames: dialogClasses,
      },
      Notification: {
        defaultProps: {
          closeButtonProps: { "aria-label": close },
        } satisfies Partial<NotificationProps>,
      },
      Popover: {
        defaultProps: { shadow: "md" } satisfies PopoverProps,
        classNames: { dropdown: classes.raised },
      },
      Table: {
        defaultProps: {
          verticalSpacing: 9,
          horizontalSpacing: 12,
          borderColor: "var(--line)",
          highlightOnHoverColor: "var(--sunken)",
        } satisfies TableProps,
        classNames: { th: classes.th },
      },
      Tooltip: {
        defaultProps: { openDelay: 350, withArrow: true, fz: "xs" } satisfies Partial<TooltipProps>,
      },
    },
  });
}
