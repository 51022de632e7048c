/** How Chromium is started. */
export const launchOptions = {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  timeout: 120_000, // the first start reads everything from disk
  args: [
    "--no-sandbox", // CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    // The test's own identity provider runs on this machine, too.
    "--disable-features=LocalNetworkAccessChecks",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
  ],
};
