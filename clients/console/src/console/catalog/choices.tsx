import type { Location, Member, Plan, Service } from "@berthhq/client";
import { useCan } from "../../shared/auth/user";
import { named } from "../../shared/forms/options";
import { useText } from "../../shared/i18n";
import { later } from "../../shared/ui/lazy";
import { Choice, type ChoiceProps } from "./choice";
import { useCatalog } from "./loaded";
import { catalogTexts } from "./texts";

const LocationForm = later(() => import("./locations"), "LocationForm");
const ServiceForm = later(() => import("./service-form"), "ServiceForm");
const PlanForm = later(() => import("./plans"), "PlanForm");
const AddStaff = later(() => import("./staff"), "AddStaff");

type InputProps<E> = Omit<ChoiceProps, "data" | "create"> & {
  /** Takes what was created. By default only its id, as a value. */
  onMade?: (entity: E) => void;
};

/** What is in use, and what a form has already. */
const inUse = <E extends { id: string; active?: boolean }>(all: readonly E[], kept: string) =>
  all.filter(({ id, active }) => active !== false || id === kept);

/** Selects a location, or creates one. It cannot change once it is saved. */
export function LocationInput({
  fixed,
  onMade,
  ...props
}: InputProps<Location> & {
  /** The saved location. */
  fixed?: string | undefined;
}) {
  const { locations } = useCatalog();
  const t = useText(catalogTexts);
  const can = useCan();
  return (
    <Choice
      label={t.fields.location}
      description={fixed && t.catalog.staysThere}
      required
      allowDeselect={false}
      disabled={fixed !== undefined}
      data={named(inUse(locations, fixed ?? props.value ?? ""))}
      create={
        can("catalog.write") && {
          label: t.catalog.tables.locations.add,
          form: (done) => <LocationForm entity={undefined} {...done(onMade)} />,
        }
      }
      {...props}
    />
  );
}

/** Selects a service, or creates one. */
export function ServiceInput({ onMade, ...props }: InputProps<Service>) {
  const { services } = useCatalog();
  const t = useText(catalogTexts);
  const can = useCan();
  return (
    <Choice
      required
      searchable
      data={named(inUse(services, props.value ?? ""))}
      create={
        can("catalog.write") && {
          label: t.catalog.tables.services.add,
          form: (done) => <ServiceForm entity={undefined} {...done(onMade)} />,
        }
      }
      {...props}
    />
  );
}

/** Selects a staff member, or adds one. */
export function CoachInput({ onMade, ...props }: InputProps<Member>) {
  const { staff } = useCatalog();
  const t = useText(catalogTexts);
  const can = useCan();
  return (
    <Choice
      clearable
      searchable
      disabled={!can("member.read")}
      data={named(staff)}
      create={
        can("role.assign") && {
          label: t.catalog.newStaff,
          form: (done) => <AddStaff {...done(onMade)} />,
        }
      }
      {...props}
    />
  );
}

/** Selects a plan, or creates one. */
export function PlanInput({
  plans,
  onMade,
  ...props
}: InputProps<Plan> & { plans: readonly Plan[] }) {
  const t = useText(catalogTexts);
  const can = useCan();
  return (
    <Choice
      required
      data={named(plans)}
      create={
        can("plan.write") && {
          label: t.plans.add,
          form: (done) => <PlanForm entity={undefined} {...done(onMade)} />,
        }
      }
      {...props}
    />
  );
}
