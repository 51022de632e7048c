import "@mantine/spotlight/styles.css";
import "@mantine/dates/styles.css";
import "./console.css";
import "./shell.css";
import { BrowserRouter } from "react-router";
import { open } from "../shared/root";
import { Shell } from "./shell";

open(
  "/",
  <BrowserRouter>
    <Shell />
  </BrowserRouter>,
);
