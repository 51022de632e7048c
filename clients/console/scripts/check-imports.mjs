/* Fails if README's picture of the browser apps and what their sources import differ: part of `npm run lint`. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { differences, readPicture, readSources } from "./picture.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const picture = readPicture(readFileSync(here("../README.md"), "utf8"));
const found = differences(picture, readSources(here("../src")));
for (const difference of found) process.stderr.write(`${difference}\n`);
process.exitCode = found.length > 0 ? 1 : 0;
