/** Sends an invitation again, and shows its new link once, for servers whose email does not arrive. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import type { Asked } from '../../parts/asked.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { useAction } from '../../parts/action.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { OneTimeSecret, OneTimeSecretModal, useHeld } from '../../parts/one-time-secret.tsx';

type Invitation = Schemas['Invitation'];

export function ResendDialog({ asked: { row, opened, close } }: { readonly asked: Asked<Invitation> }) {
  return (
    <OneTimeSecretModal opened={opened} onClose={close} title={`Send again to ${row?.email ?? ''}?`}>
      {row !== undefined && <Steps key={row.id} invitation={row} onClose={close} />}
    </OneTimeSecretModal>
  );
}

interface StepsProps {
  readonly invitation: Invitation;
  readonly onClose: () => void;
}

function Steps({ invitation: { id: invitationId, email }, onClose }: StepsProps) {
  const { client } = useApi();
  const { id } = useAccount().active_org;
  const isHeld = useHeld();
  const [link, setLink] = useState<string>();
  const resend = useAction({
    run: () =>
      answered(
        client.POST('/orgs/{id}/invitations/{invitation_id}/resend', {
          params: { path: { id, invitation_id: invitationId } },
        }),
      ),
    touches: [['orgs', id, 'invitations']],
    onDone: ({ accept_url: url }) => setLink(url),
    tellsFailure: true,
  });
  if (link !== undefined)
    return (
      <OneTimeSecret label="The link of the invitation">
        <Text size="sm" className="culvert-wrap">
          Email sent to <strong>{email}</strong>. If it does not arrive, pass this link on yourself: it works only for
          the account of this address. You won&apos;t see it again.
        </Text>
        <CopyLine value={link} what="the link" />
      </OneTimeSecret>
    );
  return (
    <Stack>
      <Text size="sm">
        They get another email, with a new link that works for 7 days. The earlier link stops working.
      </Text>
      {resend.isError && <FailureAlert error={resend.error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" disabled={isHeld} onClick={onClose}>
          Cancel
        </Button>
        <Button loading={resend.isPending} onClick={() => resend.mutate()} data-autofocus>
          Send again
        </Button>
      </Group>
    </Stack>
  );
}
