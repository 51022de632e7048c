import { NavLink } from "@mantine/core";
import { IconListCheck } from "@tabler/icons-react";
import { Link, useLocation } from "react-router";
import { useText } from "../../shared/i18n";
import { routes } from "../routes";
import { useSkipped, useSteps } from "./data";
import type { Step } from "./steps";

/** Leads to the setup, as long as a step is left that is neither done nor skipped. */
export function SetupLink({ className }: { className: string | undefined }) {
  const t = useText();
  const steps = useSteps();
  const { skipped } = useSkipped();
  const { pathname } = useLocation();
  if (!steps) return null;
  const all = Object.entries(steps) as [Step, boolean][];
  const left = all.filter(([step, done]) => !done && !skipped.includes(step)).length;
  if (left === 0) return null;
  const here = pathname === routes.setup.pattern;
  return (
    <NavLink
      {...(className && { className })}
      component={Link}
      to={routes.setup.path()}
      label={t.nav.setup}
      active={here}
      aria-current={here ? "page" : undefined}
      leftSection={<IconListCheck size={18} stroke={1.6} aria-hidden />}
      rightSection={
        <span aria-hidden>
          {all.length - left}/{all.length}
        </span>
      }
    />
  );
}
