/** The reserved names page: the list, and the form to reserve a name. */
import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi, useMay } from '../../api/context.tsx';
import { failureFrom } from '../../api/failure.ts';
import { useAction } from '../../parts/action.ts';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { PlanLink } from '../../parts/links.tsx';
import { useServerPlace } from '../../api/server-place.ts';
import { RESERVED, roomText } from './name-labels.ts';
import { NameTable } from './name-table.tsx';

const AGAIN_MS = 15_000;

export function NamesPage() {
  const { client } = useApi();
  const names = useQuery({
    queryKey: RESERVED,
    queryFn: ({ signal }) => answered(client.GET('/reserved-subdomains', { signal })),
    refetchInterval: AGAIN_MS,
  });
  return (
    <Page
      title="Reserved names"
      about="A reserved name stays yours, with or without a tunnel. Other names can be taken 24 hours after their tunnel is deleted."
    >
      <Loaded query={names}>
        {(rows) => (
          <>
            <Room used={rows.length} />
            {rows.length > 0 && <NameTable names={rows} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** How many the plan has, and the form for another one while there is room. */
function Room({ used }: { readonly used: number }) {
  const { plan, reserved_subdomains: most } = useAccount().entitlements;
  const mayReserve = useMay('member');
  const isFull = most !== null && used >= most;
  return (
    <Panel title="Reserve name" about={roomText(used, most)}>
      {isFull && (
        <PlanLink>
          {most === 0
            ? `Your plan, ${plan}, has no reserved names.`
            : `All ${most} names of your plan, ${plan}, are in use.`}
        </PlanLink>
      )}
      {!isFull && mayReserve && <NameForm />}
      {!isFull && !mayReserve && (
        <Text size="sm" c="dimmed">
          Viewers can't reserve names. Ask an admin for the member role.
        </Text>
      )}
    </Panel>
  );
}

/** Other names are refused by the server with a word for the field: this one is taken, that one is its own. */
const AT_FIELD = 'duplicate_name';

/** Reserves a name. */
function NameForm() {
  const { client } = useApi();
  const domain = useServerPlace().data?.edge_domain;
  const [refusal, setRefusal] = useState<{ message: string; isOfPlan: boolean }>();
  const form = useForm({
    initialValues: { subdomain: '' },
    validate: { subdomain: (name) => (name.trim() === '' ? 'Enter a name, such as shop.' : null) },
  });
  const reserve = useAction({
    run: (subdomain: string) => answered(client.POST('/reserved-subdomains', { body: { subdomain } })),
    done: ({ subdomain }) => `${subdomain} reserved.`,
    touches: [RESERVED],
    onDone: () => form.reset(),
    tellsFailure: true,
  });
  const refuse = (error: unknown): void => {
    const failure = failureFrom(error);
    if (failure.code === AT_FIELD) return form.setFieldError('subdomain', failure.message);
    const message = showFaults(form, failure);
    setRefusal(message === undefined ? undefined : { message, isOfPlan: failure.status === 402 });
  };
  const submit = form.onSubmit(({ subdomain }) => {
    setRefusal(undefined);
    reserve.mutate(subdomain.trim().toLowerCase(), { onError: refuse });
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Group gap="xs" align="flex-start">
          <TextInput
            aria-label="Name"
            placeholder="shop"
            autoCapitalize="none"
            autoComplete="off"
            flex="0 1 420px"
            rightSection={
              domain === undefined ? undefined : (
                <Text size="sm" c="dimmed">
                  .{domain}
                </Text>
              )
            }
            rightSectionWidth={domain === undefined ? 0 : `${domain.length + 2}ch`}
            rightSectionPointerEvents="none"
            {...form.getInputProps('subdomain')}
          />
          <Button type="submit" loading={reserve.isPending}>
            Reserve name
          </Button>
        </Group>
        {refusal !== undefined &&
          (refusal.isOfPlan ? (
            <PlanLink>{refusal.message}</PlanLink>
          ) : (
            <Alert color="red" variant="light" role="alert">
              {refusal.message}
            </Alert>
          ))}
      </Stack>
    </form>
  );
}
