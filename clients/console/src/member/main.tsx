import "./member.css";
import { BrowserRouter } from "react-router";
import { open } from "../shared/root";
import { MemberApp } from "./shell";

open(
  "/app/",
  <BrowserRouter basename="/app">
    <MemberApp />
  </BrowserRouter>,
);
