/** Reserves a name. */
import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { failureFrom } from '../../api/failure.ts';
import { useAction } from '../../parts/action.ts';
import { showFaults } from '../../parts/form-failure.ts';
import { PlanLink } from '../../parts/plan-link.tsx';
import { useServerPlace } from '../../parts/server-place.ts';
import { RESERVED } from './name-labels.ts';

/** Other names are refused by the server with a word for the field: this one is taken, that one is its own. */
const AT_FIELD = 'duplicate_name';

export function NameForm() {
  const { client } = useApi();
  const domain = useServerPlace().data?.edge_domain;
  const [refusal, setRefusal] = useState<{ message: string; isOfPlan: boolean }>();
  const form = useForm({
    initialValues: { subdomain: '' },
    validate: { subdomain: (name) => (name.trim() === '' ? 'Write a name, such as shop.' : null) },
  });
  const reserve = useAction({
    run: (subdomain: string) => answered(client.POST('/reserved-subdomains', { body: { subdomain } })),
    done: ({ subdomain }) => `${subdomain} is reserved.`,
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
