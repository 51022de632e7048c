import { Alert, Button, SimpleGrid, Skeleton, Stack, Text, TextInput, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconArrowRight, IconSearch } from "@tabler/icons-react";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { DemoTenant } from "../auth/auth";
import { useAuth } from "../auth/user";
import { useText } from "../i18n";
import { Card } from "../ui";
import { Mails } from "./mails";

/** Signs in to a server for development as anybody, with one click. */
export function Demo() {
  const auth = useAuth();
  const t = useText();
  const [query, setQuery] = useState("");
  const [settled] = useDebouncedValue(query.trim(), 200);
  const tenants = useInfiniteQuery({
    queryKey: ["demo people", settled],
    initialPageParam: "",
    queryFn: ({ pageParam: after }) => auth.people(settled, after),
    getNextPageParam: ({ after }) => after || undefined,
    placeholderData: keepPreviousData,
  });
  const found = tenants.data?.pages.flatMap((page) => page.tenants);
  const searchable = query !== "" || tenants.hasNextPage || (found?.length ?? 0) > few;
  return (
    <>
      <div>
        <Title order={2} fz={20} fw={700} mb={2}>
          {t.signIn.demo}
        </Title>
        <Text inherit c="dimmed">
          {t.signIn.demoNote}
        </Text>
      </div>
      {tenants.isError && <Alert color="red">{t.signIn.failed}</Alert>}
      {searchable && (
        <TextInput
          type="search"
          leftSection={<IconSearch size={16} aria-hidden />}
          placeholder={t.signIn.findTenant}
          aria-label={t.signIn.findTenant}
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
        />
      )}
      {tenants.isPending && <Skeleton height={280} radius="lg" />}
      {found?.map((tenant) => (
        <People key={tenant.id} tenant={tenant} />
      ))}
      {found?.length === 0 && (
        <Alert color="yellow">{settled ? t.signIn.noSuchTenant : t.signIn.noDemo}</Alert>
      )}
      {tenants.hasNextPage && (
        <Button
          variant="default"
          loading={tenants.isFetchingNextPage}
          onClick={() => void tenants.fetchNextPage()}
        >
          {t.actions.more}
        </Button>
      )}
      <Mails />
    </>
  );
}

/** How many tenants need no search. */
const few = 6;

function People({ tenant }: { tenant: DemoTenant }) {
  const auth = useAuth();
  const t = useText();
  const [chosen, setChosen] = useState("");
  const roles = t.roleNames as Record<string, string>;
  return (
    <Card bare>
      <Stack gap={10} p={16}>
        <Title order={2} fz={15} fw={600}>
          {tenant.name}
        </Title>
        <SimpleGrid minColWidth={112} autoFlow="auto-fit" spacing={8}>
          {tenant.people.map(({ subject, role }) => (
            <Button
              key={subject}
              variant="default"
              justify="space-between"
              rightSection={<IconArrowRight size={14} aria-hidden />}
              loading={chosen === subject}
              aria-label={t.signIn.as(roles[role] ?? role, tenant.name)}
              onClick={() => {
                setChosen(subject);
                void auth.be(tenant.id, subject);
              }}
            >
              {roles[role] ?? role}
            </Button>
          ))}
        </SimpleGrid>
      </Stack>
    </Card>
  );
}
