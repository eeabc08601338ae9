/** The second factor: on or off, how many recovery codes are left, and the ways to change that. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { OneTimeSecretModal } from '../../parts/dialogs/one-time-secret.tsx';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { DisableForm, EnrolForm, RenewForm } from './second-factor-forms.tsx';

type Dialog = 'enrol' | 'renew' | 'disable';

const TITLES: Readonly<Record<Dialog, string>> = {
  enrol: 'Set up two-factor authentication',
  renew: 'New recovery codes',
  disable: 'Turn off two-factor authentication?',
};

/** Fewer than this and it is time for new ones. */
const FEW_CODES = 3;

export function SecondFactorPanel() {
  const { client } = useApi();
  const [dialog, setDialog] = useState<Dialog>('enrol');
  const [opened, setOpened] = useState(false);
  const status = useQuery({
    queryKey: ['me', 'mfa'],
    queryFn: ({ signal }) => answered(client.GET('/auth/mfa', { signal })),
  });
  const open = (which: Dialog): void => {
    setDialog(which);
    setOpened(true);
  };
  const close = (): void => setOpened(false);
  return (
    <Panel title="Two-factor authentication" about="Asks for a code from your authenticator app after the password.">
      <Loaded query={status} lines={1}>
        {(data) => <SecondFactorStatus status={data} open={open} />}
      </Loaded>
      <OneTimeSecretModal opened={opened} onClose={close} title={TITLES[dialog]}>
        {dialog === 'enrol' && <EnrolForm onClose={close} />}
        {dialog === 'renew' && <RenewForm onClose={close} />}
        {dialog === 'disable' && <DisableForm onClose={close} />}
      </OneTimeSecretModal>
    </Panel>
  );
}

interface SecondFactorStatusProps {
  readonly status: Schemas['MfaStatus'];
  readonly open: (dialog: Dialog) => void;
}

function SecondFactorStatus({ status, open }: SecondFactorStatusProps) {
  const { enabled, enabled_at: since, recovery_codes_left: left } = status;
  if (!enabled)
    return (
      <Group justify="space-between" gap="xs">
        <StateBadge tone="quiet">Off</StateBadge>
        <Button onClick={() => open('enrol')}>Set up</Button>
      </Group>
    );
  return (
    <>
      <Group gap="xs">
        <StateBadge tone="good">On</StateBadge>
        <Text size="sm" c="dimmed">
          since <Ago at={since} />, {left === 1 ? '1 recovery code' : `${left} recovery codes`} left
        </Text>
      </Group>
      {left < FEW_CODES && (
        <Alert color="yellow" variant="light">
          If you lose your phone, only a recovery code lets you log in. Create new codes.
        </Alert>
      )}
      <Group gap="xs">
        <Button variant="default" onClick={() => open('renew')}>
          New recovery codes
        </Button>
        <Button variant="default" onClick={() => open('disable')}>
          Turn off
        </Button>
      </Group>
    </>
  );
}
