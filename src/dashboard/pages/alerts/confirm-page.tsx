/** `/confirm-alerts?token=`, linked from the confirmation email. Needs no account. Confirms by a click, because mail scanners open links. */
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
      <Text size="sm">After this, you get alerts of the organization that the email names.</Text>
      {confirm.isError && <FailureAlert error={confirm.error} />}
      <Button size="md" loading={confirm.isPending} onClick={() => confirm.mutate(token)}>
        Confirm address
      </Button>
      <Text size="xs" c="dimmed">
        If you don&apos;t know the sender, close this page. You get no alerts.
      </Text>
    </Frame>
  );
}
