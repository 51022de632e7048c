import "@mantine/spotlight/styles.layer.css";
import "@mantine/dates/styles.layer.css";
import { BrowserRouter } from "react-router";
import { Shell } from "./shell/shell";

export { ready } from "./shell/shell";

export const App = () => (
  <BrowserRouter>
    <Shell />
  </BrowserRouter>
);
