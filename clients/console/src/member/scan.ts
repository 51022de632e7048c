interface Detector {
  detect(source: CanvasImageSource): Promise<{ rawValue: string }[]>;
}

declare global {
  // Not in all browsers, and not in TypeScript's DOM types.
  var BarcodeDetector: (new (options: { formats: string[] }) => Detector) | undefined;
}

/**
 * Reads QR codes with the browser's own detector, or else with a library that is loaded on demand.
 */
export async function openReader(): Promise<
  (video: HTMLVideoElement) => Promise<string | undefined>
> {
  const { BarcodeDetector } = globalThis;
  if (BarcodeDetector) {
    try {
      const detector = new BarcodeDetector({ formats: ["qr_code"] });
      return async (video) => (await detector.detect(video))[0]?.rawValue;
    } catch {
      // Some browsers have the class but no detector behind it.
    }
  }
  const { default: read } = await import("jsqr");
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  return async (video) => {
    const { videoWidth: width, videoHeight: height } = video;
    if (!context || width === 0) return undefined;
    canvas.width = width;
    canvas.height = height;
    context.drawImage(video, 0, 0);
    return read(context.getImageData(0, 0, width, height).data, width, height)?.data;
  };
}
