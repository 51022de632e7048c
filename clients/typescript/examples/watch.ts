import { readFile, rename, writeFile } from "node:fs/promises";
import { createBerthClient, EventType } from "@berthhq/client";
import { createGrpcTransport } from "@connectrpc/connect-node";

const [baseUrl = "", key = "", file = "cursor"] = process.argv.slice(2);
const berth = createBerthClient({ baseUrl, key, transport: createGrpcTransport });

const cursor = await readFile(file, "utf8").catch(() => ""); // from now, the first time
const filter = { types: [EventType.BOOKING_CONFIRMED, EventType.BOOKING_CANCELLED] };

for await (const event of berth.watch({ filter, cursor })) {
  console.log(EventType[event.type], event.bookingId);
  // After the work, so that nothing is missed; in one stroke, so that it is never half a cursor.
  await writeFile(`${file}.new`, event.cursor);
  await rename(`${file}.new`, file);
  if (event.type === EventType.BOOKING_CANCELLED) break;
}
