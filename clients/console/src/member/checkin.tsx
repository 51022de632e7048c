import { CheckInService, SessionService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Button, TextInput } from "@mantine/core";
import { IconCircleCheck, IconMapPin, IconQrcode } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { Link, useParams } from "react-router";
import { useI18n, useText } from "../i18n";
import { useCall } from "../shared/calls";
import { explain } from "../shared/errors";
import { Shown, Time } from "../shared/ui";
import { Heading } from "./heading";
import { openReader } from "./scan";

export function CheckInPage() {
  const t = useText();
  const { locale } = useI18n();
  const { id: sessionId = "" } = useParams();
  const session = useQuery(SessionService.method.getSession, { sessionId });
  const checkIn = useCall(CheckInService.method.selfCheckIn, { quiet: true });
  const [scanning, setScanning] = useState(false);
  const [code, setCode] = useState("");
  const [problem, setProblem] = useState<string>();
  const [done, setDone] = useState(false);
  const [locating, setLocating] = useState(false);

  const submit = async (proof: Parameters<typeof checkIn.run>[0]["proof"]) => {
    setProblem(undefined);
    try {
      await checkIn.run({ sessionId, ...(proof && { proof }) });
      setScanning(false);
      setDone(true);
    } catch (error) {
      setScanning(false);
      setProblem(explain(error, t, locale, session.data?.session?.timeZone ?? "UTC"));
    }
  };
  const locate = () => {
    setProblem(undefined);
    setLocating(true);
    navigator.geolocation.getCurrentPosition(
      async ({ coords: { latitude, longitude } }) => {
        await submit({
          case: "position",
          value: { $typeName: "google.type.LatLng", latitude, longitude },
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
      <Shown of={session} rows={2}>
        {({ session: found }) =>
          found && (
            <p style={{ marginTop: -6 }}>
              <strong>{found.title}</strong>
              <br />
              <span className="muted">
                <Time at={found.startTime} zone={found.timeZone} />
              </span>
            </p>
          )
        }
      </Shown>
      {done ? (
        <div className="card done" role="status">
          <IconCircleCheck size={64} stroke={1.4} aria-hidden />
          <h2 style={{ fontSize: 20, color: "var(--ink)" }}>{t.app.checkedIn}</h2>
          <Button component={Link} to="/bookings" variant="default">
            {t.app.myBookings}
          </Button>
        </div>
      ) : (
        <div className="form">
          {problem && (
            <Alert color="red" role="alert">
              {problem}
            </Alert>
          )}
          {scanning ? (
            <Scanner
              onRead={(value) => void submit({ case: "qrToken", value })}
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
            style={{ display: "flex", gap: 8, alignItems: "end" }}
            onSubmit={(event) => {
              event.preventDefault();
              void submit({ case: "qrToken", value: code.trim() });
            }}
          >
            <TextInput
              style={{ flex: 1 }}
              label={t.app.code}
              value={code}
              autoComplete="off"
              onChange={(event) => setCode(event.currentTarget.value)}
            />
            <Button type="submit" variant="default" disabled={!code.trim()} loading={checkIn.busy}>
              {t.app.checkIn}
            </Button>
          </form>
        </div>
      )}
    </>
  );
}

/** How often a camera frame is scanned, in ms. */
const scanInterval = 180;

function Scanner({ onRead, onFail }: { onRead: (code: string) => void; onFail: () => void }) {
  const t = useText();
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
      <div className="scanner">
        <video ref={video} muted playsInline aria-label={t.app.scanning} />
      </div>
      <p className="muted" style={{ textAlign: "center" }} role="status">
        {t.app.scanning}
      </p>
    </div>
  );
}
