import { CheckInService, SessionService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Button, Flex, Stack, Text, TextInput, Title } from "@mantine/core";
import { useInputState } from "@mantine/hooks";
import { IconCircleCheck, IconMapPin, IconQrcode } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import { useCall } from "../../shared/api/calls";
import { explain } from "../../shared/api/errors";
import { useI18n, useText } from "../../shared/i18n";
import { Card, QueryResult, Time } from "../../shared/ui";
import { routes } from "../routes";
import { memberTexts } from "../texts";
import { Heading, Note } from "../ui";
import classes from "./scanner.module.css";

export function CheckInPage() {
  const { t, locale } = useI18n(memberTexts);
  const { session: sessionId } = routes.checkIn.useParams();
  const session = useQuery(SessionService.method.getSession, { sessionId });
  const checkIn = useCall(CheckInService.method.selfCheckIn, { quiet: true });
  const [scanning, setScanning] = useState(false);
  const [code, setCode] = useInputState("");
  const [problem, setProblem] = useState<string>();
  const [done, setDone] = useState(false);
  const [locating, setLocating] = useState(false);

  const submit = async (request: Parameters<typeof checkIn.run>[0]) => {
    setProblem(undefined);
    try {
      await checkIn.run({ sessionId, ...request });
      setDone(true);
    } catch (error) {
      setProblem(explain(error, t, locale, session.data?.session?.timeZone ?? "UTC"));
    } finally {
      setScanning(false);
    }
  };
  const submitCode = (value: string) => submit({ proof: { case: "qrToken", value } });
  const locate = () => {
    setProblem(undefined);
    setLocating(true);
    navigator.geolocation.getCurrentPosition(
      async ({ coords: { latitude, longitude, accuracy }, timestamp }) => {
        await submit({
          proof: {
            case: "position",
            value: { $typeName: "google.type.LatLng", latitude, longitude },
          },
          accuracyMeters: Math.min(accuracy, 1_000_000),
          positionAge: {
            seconds: BigInt(Math.max(0, Math.round((Date.now() - timestamp) / 1000))),
          },
        });
        setLocating(false);
      },
      () => {
        setLocating(false);
        setProblem(t.app.noPosition);
      },
      { enableHighAccuracy: true, timeout: 15_000, maximumAge: 30_000 },
    );
  };
  return (
    <>
      <Heading>{t.app.checkIn}</Heading>
      <QueryResult query={session} rows={2}>
        {({ session: found }) =>
          found && (
            <Text inherit mt={-6} mb={15}>
              <strong>{found.title}</strong>
              <br />
              <Note span>
                <Time at={found.startTime} zone={found.timeZone} />
              </Note>
            </Text>
          )
        }
      </QueryResult>
      {done ? (
        <Card bare role="status">
          <Stack align="center" gap={10} px={20} py={40}>
            <IconCircleCheck size={64} stroke={1.4} color="var(--good)" aria-hidden />
            <Title order={2} fz={20} fw={600} mt={16}>
              {t.app.checkedIn}
            </Title>
            <Button component={Link} to={routes.bookings.path()} variant="default">
              {t.app.myBookings}
            </Button>
          </Stack>
        </Card>
      ) : (
        <Stack gap={14}>
          {problem && (
            <Alert color="red" role="alert">
              {problem}
            </Alert>
          )}
          {scanning ? (
            <Scanner
              onRead={submitCode}
              onFail={() => {
                setScanning(false);
                setProblem(t.app.noCamera);
              }}
            />
          ) : (
            <Button
              size="lg"
              leftSection={<IconQrcode size={22} />}
              onClick={() => setScanning(true)}
            >
              {t.app.byQr}
            </Button>
          )}
          <Button
            size="lg"
            variant="default"
            leftSection={<IconMapPin size={20} />}
            loading={locating}
            onClick={locate}
          >
            {t.app.byGps}
          </Button>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void submitCode(code.trim());
            }}
          >
            <Flex gap={8} align="end">
              <TextInput
                flex={1}
                label={t.app.code}
                value={code}
                autoComplete="off"
                onChange={setCode}
              />
              <Button
                type="submit"
                variant="default"
                disabled={!code.trim()}
                loading={checkIn.busy}
              >
                {t.app.checkIn}
              </Button>
            </Flex>
          </form>
        </Stack>
      )}
    </>
  );
}

/** How often a camera frame is scanned, in ms. */
const scanInterval = 180;

/** Scans a QR code with the camera. */
function Scanner({ onRead, onFail }: { onRead: (code: string) => void; onFail: () => void }) {
  const t = useText(memberTexts);
  const video = useRef<HTMLVideoElement>(null);
  const callbacks = useRef({ onRead, onFail });
  callbacks.current = { onRead, onFail };
  useEffect(() => {
    let stream: MediaStream | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    const begin = async () => {
      const [camera, read] = await Promise.all([
        navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } }),
        openReader(),
      ]);
      stream = camera;
      const shown = video.current;
      if (over || !shown) return end();
      shown.srcObject = camera;
      await shown.play();
      const scan = async () => {
        const code = await read(shown).catch(() => undefined);
        if (over) return;
        if (code) callbacks.current.onRead(code);
        else timer = setTimeout(() => void scan(), scanInterval);
      };
      void scan();
    };
    const end = () => {
      over = true;
      clearTimeout(timer);
      for (const track of stream?.getTracks() ?? []) track.stop();
    };
    begin().catch(() => {
      if (!over) callbacks.current.onFail();
    });
    return end;
  }, []);
  return (
    <div>
      <div className={classes.scanner}>
        <video ref={video} muted playsInline aria-label={t.app.scanning} />
      </div>
      <Text inherit c="dimmed" ta="center" my={15} role="status">
        {t.app.scanning}
      </Text>
    </div>
  );
}

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
async function openReader(): Promise<(video: HTMLVideoElement) => Promise<string | undefined>> {
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
