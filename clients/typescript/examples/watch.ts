import { readFile, rename, writeFile } from "node:fs/promises";
import { createBerthClient, EventType } from "@berthhq/client";
import { createGrpcTransport } from "@connectrpc/connect-node";

const [baseUrl = "", key = "", file = "cursor"] = process.argv.slice(2);
const berth = createBerthClient({ baseUrl, key, transport: createGrpcTransport });

const cursor = await readFile(file, "utf8").catch(() => ""); // empty: from now
const filter = { types: [EventType.BOOKING_CONFIRMED, EventType.BOOKING_CANCELLED] };

for await (const event of berth.watch({ filter, cursor })) {
  console.log(EventType[event.type], event.bookingId);
  // Save the cursor after handling the event, so that none is missed, and atomically.
  await writeFile(`${file}.new`, event.cursor);
  await rename(`${file}.new`, file);
  if (event.type === EventType.BOOKING_CANCELLED) break;
}
