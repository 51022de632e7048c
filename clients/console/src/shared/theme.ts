import {
  ActionIcon,
  Button,
  Checkbox,
  createTheme,
  Drawer,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
  Menu,
  Modal,
  Popover,
  Tooltip,
  type VariantColorsResolver,
} from "@mantine/core";

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
export const theme = (close: string) =>
  createTheme({
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
    components: {
      // Explicit, or the resolver above does not set the border.
      Button: Button.extend({ defaultProps: { variant: "filled" } }),
      Checkbox: Checkbox.extend({ defaultProps: { iconColor: "var(--on-accent)" } }),
      Drawer: Drawer.extend({
        defaultProps: {
          position: "right",
          size: 460,
          closeButtonProps: { "aria-label": close },
          overlayProps: { backgroundOpacity: 0.28 },
        },
      }),
      Modal: Modal.extend({
        defaultProps: {
          centered: true,
          closeButtonProps: { "aria-label": close },
          overlayProps: { backgroundOpacity: 0.28 },
        },
      }),
      Menu: Menu.extend({ defaultProps: { shadow: "md", position: "bottom-end" } }),
      Popover: Popover.extend({ defaultProps: { shadow: "md" } }),
      Tooltip: Tooltip.extend({ defaultProps: { openDelay: 350, withArrow: true, fz: "xs" } }),
      ActionIcon: ActionIcon.extend({ defaultProps: { variant: "subtle", color: "gray" } }),
    },
  });
