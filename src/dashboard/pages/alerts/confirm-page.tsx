/** `/confirm-alerts?token=`, the page of the email to an address that is to get alerts. It needs no account, and confirms at a click: programs open links, too. */
import { Alert, Button, Text } from '@mantine/core';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import type { Arrival } from '../../place.ts';
import { Frame } from '../auth/frame.tsx';

export function ConfirmPage({ arrival: { token } }: { readonly arrival: Arrival }) {
  const { client } = useApi();
  const confirm = useAction({
    run: (secret: string) => answered(client.POST('/alerts/confirm', { body: { token: secret } })),
    tellsFailure: true,
  });
  if (token === undefined)
    return (
      <Frame title="Alerts" heading="This link is incomplete">
        <Text size="sm">Open the full link from the email.</Text>
      </Frame>
    );
  if (confirm.data !== undefined)
    return (
      <Frame title="Alerts" heading="Address confirmed">
        <Alert role="status" variant="light" className="culvert-wrap">
          Alerts of the organization <strong>{confirm.data.organization}</strong> are sent to{' '}
          <strong>{confirm.data.email}</strong>.
        </Alert>
      </Frame>
    );
  return (
    <Frame title="Alerts" heading="Confirm your address">
      <Text size="sm">The email names the organization whose alerts are sent to your address.</Text>
      {confirm.isError && <FailureAlert error={confirm.error} />}
      <Button size="md" loading={confirm.isPending} onClick={() => confirm.mutate(token)}>
        Confirm address
      </Button>
      <Text size="xs" c="dimmed">
        If you don&apos;t know the sender, close this page. Nothing changes.
      </Text>
    </Frame>
  );
}
