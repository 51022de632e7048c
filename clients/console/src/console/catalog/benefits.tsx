import {
  type BenefitProvider,
  BenefitProviderSchema,
  BenefitVerification,
  CatalogService,
} from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { NumberInput, Switch, TextInput } from "@mantine/core";
import { IconDiscount } from "@tabler/icons-react";
import { useText } from "../../shared/i18n";
import { QueryResult } from "../../shared/ui";
import { right } from "../ui";
import { EditForm, maskOf, pick, useSave } from "../ui/edit-form";
import { Columns, Name } from "../ui/inputs";
import { BenefitNumbers } from "./benefit-numbers";
import { EntityTable, type FormProps } from "./entity-table";
import { catalogTexts } from "./texts";

/** Partners whose members get a discount. */
export function Benefits({ archived }: { archived: boolean }) {
  const t = useText(catalogTexts);
  const providers = useQuery(CatalogService.method.listBenefitProviders, {});
  return (
    <QueryResult query={providers}>
      {({ providers: all }) => (
        <EntityTable
          entities={all.map((provider) => ({ ...provider, id: provider.code }))}
          archived={archived}
          {...t.catalog.tables.benefits}
          icon={IconDiscount}
          columns={[
            { title: t.catalog.code, show: ({ code }) => <code>{code}</code> },
            { title: t.catalog.pattern, show: ({ numberPattern }) => <code>{numberPattern}</code> },
            { title: t.catalog.discount, ...right, show: (one) => `${one.discountPercent} %` },
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
  const t = useText(catalogTexts);
  const make = useSave(CatalogService.method.createBenefitProvider);
  const update = useSave(CatalogService.method.updateBenefitProvider);
  return (
    <EditForm
      entity={provider}
      valuesOf={valuesOf}
      names={{
        ...t.fields,
        ...t.catalog,
        numberPattern: t.catalog.pattern,
        discountPercent: t.catalog.discount,
        active: t.catalog.accepted,
        listed: t.benefits.listed,
        families: t.benefits.families,
      }}
      pathOf={(field) => maskOf(field === "listed" ? "verification" : field)}
      save={({ code: providerCode, listed, ...values }, { updateMask, etag }) => {
        const input = {
          ...values,
          verification: listed ? BenefitVerification.LIST : BenefitVerification.NONE,
        };
        return provider
          ? update({ providerCode, provider: input, updateMask, etag })
          : make({ providerCode, provider: input });
      }}
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
            description={t.catalog.patternNote}
            required
            maxLength={200}
            spellCheck={false}
          />
          <Switch {...form.flag("listed")} description={t.benefits.listedNote} />
          <Switch {...form.flag("families")} description={t.benefits.familiesNote} />
          {provider && <Switch {...form.flag("active")} />}
        </>
      )}
    </EditForm>
  );
}
