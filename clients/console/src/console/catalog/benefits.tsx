import { type BenefitProvider, BookingService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { NumberInput, Switch, TextInput } from "@mantine/core";
import { IconDiscount } from "@tabler/icons-react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCall, useRead } from "../../shared/calls";
import { Shown } from "../../shared/ui";
import { EditForm } from "../form";
import { Name } from "../inputs";
import { EntityTable } from "./list";

/** Partners whose members get a discount. */
export function Benefits({ archived }: { archived: boolean }) {
  const d = useDesk();
  const providers = useQuery(BookingService.method.listBenefitProviders, {});
  return (
    <Shown of={providers}>
      {({ providers: all }) => (
        <EntityTable
          entities={all.map((provider) => ({ ...provider, id: provider.code }))}
          archived={archived}
          add={d.catalog.newBenefit}
          none={d.catalog.noBenefits}
          noneNote={d.catalog.noBenefitsNote}
          icon={IconDiscount}
          note={d.catalog.benefitsNote}
          columns={[
            { title: d.catalog.code, show: ({ code }) => <code>{code}</code> },
            { title: d.catalog.pattern, show: ({ numberPattern }) => <code>{numberPattern}</code> },
            {
              title: d.catalog.discount,
              right: true,
              show: ({ discountPercent }) => `${discountPercent} %`,
            },
          ]}
          form={(provider, close) => <BenefitForm provider={provider} onClose={close} />}
        />
      )}
    </Shown>
  );
}

type Values = Pick<
  BenefitProvider,
  "code" | "name" | "numberPattern" | "discountPercent" | "active"
>;

function versionOf(provider: BenefitProvider | undefined) {
  const values: Values = {
    code: provider?.code ?? "",
    name: provider?.name ?? "",
    numberPattern: provider?.numberPattern ?? "",
    discountPercent: provider?.discountPercent ?? 10,
    active: provider?.active ?? true,
  };
  return { values, etag: provider?.etag ?? "" };
}

function BenefitForm({
  provider,
  onClose,
}: {
  provider: BenefitProvider | undefined;
  onClose: () => void;
}) {
  const t = useText();
  const d = useDesk();
  const read = useRead();
  const put = useCall(BookingService.method.putBenefitProvider, {
    quiet: true,
    done: t.done.saved,
  });
  return (
    <EditForm<Values>
      fresh={!provider}
      current={versionOf(provider)}
      names={{
        ...t.fields,
        numberPattern: d.catalog.pattern,
        discountPercent: d.catalog.discount,
        active: d.catalog.accepted,
      }}
      reread={async () => {
        const answer = await read(BookingService.method.listBenefitProviders, {});
        return versionOf(answer.providers.find(({ code }) => code === provider?.code) ?? provider);
      }}
      save={(values, _, etag) => put.run({ provider: { ...values, etag }, createOnly: !provider })}
      onClose={onClose}
    >
      {(form) => (
        <>
          <Name {...form.text("name")} />
          <div className="two">
            <TextInput
              label={d.catalog.code}
              required
              disabled={provider !== undefined}
              maxLength={50}
              pattern="[A-Z0-9_\-]{1,50}"
              value={form.values.code}
              onChange={(event) => form.set({ code: event.currentTarget.value.toUpperCase() })}
            />
            <NumberInput
              label={d.catalog.discount}
              min={0}
              max={100}
              suffix=" %"
              value={form.values.discountPercent}
              onChange={(value) => form.set({ discountPercent: Number(value) || 0 })}
            />
          </div>
          <TextInput
            {...form.text("numberPattern")}
            label={d.catalog.pattern}
            description={d.catalog.patternNote}
            required
            maxLength={200}
            spellCheck={false}
          />
          {provider && <Switch {...form.flag("active")} label={d.catalog.accepted} />}
        </>
      )}
    </EditForm>
  );
}
