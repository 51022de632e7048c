export { Drawer, Modal, Tooltip } from "@mantine/core";
