import { AccessService } from "@berthhq/client";
import { Button, Group, Progress, Stack } from "@mantine/core";
import { IconCircleCheckFilled, IconCircleDashed } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import { useCall } from "../../shared/api/calls";
import { useCan, useMe } from "../../shared/auth/user";
import { useText } from "../../shared/i18n";
import { Card, Loading, PageHead, Tag } from "../../shared/ui";
import { later } from "../../shared/ui/lazy";
import { WithCatalog } from "../catalog/loaded";
import { routes } from "../routes";
import { Page, Panel } from "../ui";
import { useSkipped, useSteps } from "./data";
import classes from "./page.module.css";
import type { Step } from "./steps";
import { Templates } from "./templates-card";
import { setupTexts } from "./texts";

const LocationForm = later(() => import("../catalog/locations"), "LocationForm");
const ServiceForm = later(() => import("../catalog/service-form"), "ServiceForm");
const PlanForm = later(() => import("../catalog/plans"), "PlanForm");
const AddStaff = later(() => import("../catalog/staff"), "AddStaff");
const Invite = later(() => import("../accounts/invitations"), "Invite");

/** What the button of a step does: it opens a form here, or a page. */
const acts: Readonly<
  Record<Step, { form: (close: () => void) => ReactNode } | { page: () => string }>
> = {
  location: { form: (close) => <LocationForm entity={undefined} onClose={close} /> },
  service: { form: (close) => <ServiceForm entity={undefined} onClose={close} /> },
  coach: { form: (close) => <AddStaff onClose={close} /> },
  plan: { form: (close) => <PlanForm entity={undefined} onClose={close} /> },
  week: { page: () => routes.schedule.path({ new: "1" }) },
  staff: { form: (close) => <Invite usual="coach" onClose={close} /> },
  members: { form: (close) => <Invite onClose={close} /> },
};

/** The permission that a step needs. */
const permissions: Readonly<Record<Step, string>> = {
  location: "catalog.write",
  service: "catalog.write",
  coach: "role.assign",
  plan: "plan.write",
  week: "session.create",
  staff: "member.write",
  members: "member.write",
};

/** Leads from an empty organization to its first bookings. */
export function SetupPage() {
  const t = useText(setupTexts);
  const steps = useSteps();
  return (
    <Page size={860}>
      <PageHead title={t.nav.setup} note={t.setup.note} />
      <WithCatalog>
        {steps ? (
          <Stack gap={20}>
            <Steps steps={steps} />
            <Templates />
          </Stack>
        ) : (
          <Loading rows={10} />
        )}
      </WithCatalog>
    </Page>
  );
}

function Steps({ steps }: { steps: Readonly<Record<Step, boolean>> }) {
  const t = useText(setupTexts);
  const { skipped } = useSkipped();
  const [open, setOpen] = useState<Step>();
  const all = Object.entries(steps) as [Step, boolean][];
  const done = all.filter(([, done]) => done).length;
  const left = all.filter(([step, done]) => !done && !skipped.includes(step));
  const close = () => setOpen(undefined);
  return (
    <Card
      bare
      title={left.length === 0 ? t.setup.ready : t.setup.progress(done, all.length)}
      extra={<Progress w={140} value={(100 * done) / all.length} aria-label={t.nav.setup} />}
    >
      {left.length === 0 && <p className={classes.ready}>{t.setup.readyNote}</p>}
      <ol className={classes.steps}>
        {all.map(([step, done]) => (
          <StepRow
            key={step}
            step={step}
            done={done}
            next={step === left[0]?.[0]}
            onOpen={() => setOpen(step)}
          />
        ))}
      </ol>
      <Panel of={open} title={(step) => t.setup.steps[step].act} width={500} onClose={close}>
        {(step) => {
          const act = acts[step];
          return "form" in act && act.form(close);
        }}
      </Panel>
    </Card>
  );
}

interface StepRowProps {
  step: Step;
  done: boolean;
  /** The first that is left. */
  next: boolean;
  onOpen: () => void;
}

function StepRow({ step, done, next, onOpen }: StepRowProps) {
  const t = useText(setupTexts);
  const can = useCan();
  const { skipped, skip, resume } = useSkipped();
  const { title, note, act } = t.setup.steps[step];
  const left = skipped.includes(step);
  const Sign = done ? IconCircleCheckFilled : IconCircleDashed;
  const how = acts[step];
  const look = { variant: next ? "filled" : "default" };
  return (
    <li className={classes.step} data-done={done} data-left={(left && !done) || undefined}>
      <Sign size={22} stroke={1.6} aria-hidden />
      <div className={classes.what}>
        <strong>{title}</strong>
        {!done && !left && <p>{note}</p>}
      </div>
      {done ? (
        <Tag tone="good">{t.setup.done}</Tag>
      ) : left ? (
        <Group gap={8}>
          <Tag>{t.setup.skipped}</Tag>
          <Button
            variant="subtle"
            size="compact-sm"
            aria-label={`${t.setup.resume}: ${title}`}
            onClick={() => resume(step)}
          >
            {t.setup.resume}
          </Button>
        </Group>
      ) : (
        <Group gap={8} justify="flex-end" className={classes.acts}>
          <Button
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={`${t.setup.skip}: ${title}`}
            onClick={() => skip(step)}
          >
            {t.setup.skip}
          </Button>
          {step === "coach" && can("role.assign") && <LeadMyself />}
          {can(permissions[step]) &&
            ("page" in how ? (
              <Button {...look} size="sm" component={Link} to={how.page()}>
                {act}
              </Button>
            ) : (
              <Button {...look} size="sm" onClick={onOpen}>
                {act}
              </Button>
            ))}
        </Group>
      )}
    </li>
  );
}

/** Gives the user the role of a coach. */
function LeadMyself() {
  const t = useText(setupTexts);
  const { member } = useMe();
  const assign = useCall(AccessService.method.assignRole, { done: t.done.saved });
  return (
    <Button
      variant="default"
      size="sm"
      loading={assign.busy}
      onClick={() => void assign.run({ memberId: member.id, role: "coach" })}
    >
      {t.setup.lead}
    </Button>
  );
}
