import {
  type BenefitProvider,
  BenefitProviderSchema,
  BenefitVerification,
  BookingService,
} from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { NumberInput, Switch, TextInput } from "@mantine/core";
import { IconDiscount } from "@tabler/icons-react";
import { useDesk, useDeskTexts } from "../../i18n/desk";
import { QueryResult } from "../../shared/ui";
import { right } from "../ui";
import { EditForm, pick, useSave } from "../ui/edit-form";
import { Columns, Name } from "../ui/inputs";
import { BenefitNumbers } from "./benefit-numbers";
import { EntityTable, type FormProps } from "./entity-table";

/** Partners whose members get a discount. */
export function Benefits({ archived }: { archived: boolean }) {
  const d = useDesk();
  const providers = useQuery(BookingService.method.listBenefitProviders, {});
  return (
    <QueryResult query={providers}>
      {({ providers: all }) => (
        <EntityTable
          entities={all.map((provider) => ({ ...provider, id: provider.code }))}
          archived={archived}
          {...d.catalog.tables.benefits}
          icon={IconDiscount}
          columns={[
            { title: d.catalog.code, show: ({ code }) => <code>{code}</code> },
            { title: d.catalog.pattern, show: ({ numberPattern }) => <code>{numberPattern}</code> },
            { title: d.catalog.discount, ...right, show: (one) => `${one.discountPercent} %` },
          ]}
          Form={Benefit}
        />
      )}
    </QueryResult>
  );
}

const Benefit = (props: FormProps<BenefitProvider>) => (
  <>
    <BenefitForm {...props} />
    {props.entity && <BenefitNumbers provider={props.entity} />}
  </>
);

const blank = create(BenefitProviderSchema, { discountPercent: 10, active: true });

const valuesOf = (provider = blank) => ({
  ...pick(provider, "code", "name", "numberPattern", "discountPercent", "active", "families"),
  listed: provider.verification === BenefitVerification.LIST,
});

function BenefitForm({ entity: provider, onClose }: FormProps<BenefitProvider>) {
  const { t, d } = useDeskTexts();
  const put = useSave(BookingService.method.putBenefitProvider);
  return (
    <EditForm
      entity={provider}
      valuesOf={valuesOf}
      names={{
        ...t.fields,
        ...d.catalog,
        numberPattern: d.catalog.pattern,
        discountPercent: d.catalog.discount,
        active: d.catalog.accepted,
        listed: d.benefits.listed,
        families: d.benefits.families,
      }}
      save={({ listed, ...values }, { etag }) =>
        put({
          provider: {
            ...values,
            verification: listed ? BenefitVerification.LIST : BenefitVerification.NONE,
            etag,
          },
          createOnly: !provider,
        })
      }
      onClose={onClose}
    >
      {({ set, ...form }) => (
        <>
          <Name {...form.text("name")} />
          <Columns>
            <TextInput
              {...form.text("code")}
              required
              disabled={provider !== undefined}
              maxLength={50}
              pattern="[A-Z0-9_\-]{1,50}"
              onChange={(event) => set({ code: event.currentTarget.value.toUpperCase() })}
            />
            <NumberInput {...form.count("discountPercent")} min={0} max={100} suffix=" %" />
          </Columns>
          <TextInput
            {...form.text("numberPattern")}
            description={d.catalog.patternNote}
            required
            maxLength={200}
            spellCheck={false}
          />
          <Switch {...form.flag("listed")} description={d.benefits.listedNote} />
          <Switch {...form.flag("families")} description={d.benefits.familiesNote} />
          {provider && <Switch {...form.flag("active")} />}
        </>
      )}
    </EditForm>
  );
}
