/** Replaces a key by a new one with the same rights. The new one is shown once. */
import { Button, Group, NumberInput, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { MintedToken, Token } from '../../api/types.ts';
import type { Asked } from '../../parts/dialogs/asked.ts';
import { useAction } from '../../parts/action.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { OneTimeSecretModal, useHeld } from '../../parts/dialogs/one-time-secret.tsx';
import { TOKENS } from './key-query.ts';
import { MintedKey } from './minted-key.tsx';
import { OTHER } from './new-key-values.ts';

/** 30 days: what the server allows. */
const MOST_HOURS = 720;
const GRACES = [
  { value: '0', label: 'Immediately' },
  { value: '1', label: 'After 1 hour' },
  { value: '24', label: 'After 24 hours' },
  { value: '168', label: 'After 7 days' },
  { value: '720', label: 'After 30 days' },
  { value: OTHER, label: 'Custom' },
];

export function RotateDialog({ asked: { row: token, opened, close } }: { readonly asked: Asked<Token> }) {
  return (
    <OneTimeSecretModal opened={opened} onClose={close} title={`Rotate the key ${token?.name ?? ''}?`} size="lg">
      {token !== undefined && <Steps token={token} onClose={close} />}
    </OneTimeSecretModal>
  );
}

function Steps({ token, onClose }: { readonly token: Token; readonly onClose: () => void }) {
  const [minted, setMinted] = useState<MintedToken>();
  if (minted !== undefined) return <MintedKey token={minted} />;
  return <Grace token={token} onMinted={setMinted} onClose={onClose} />;
}

interface GraceProps {
  readonly token: Token;
  readonly onMinted: (token: MintedToken) => void;
  readonly onClose: () => void;
}

function Grace({ token, onMinted, onClose }: GraceProps) {
  const { client } = useApi();
  const isHeld = useHeld();
  const [grace, setGrace] = useState('24');
  const [hours, setHours] = useState<number | string>(48);
  const rotate = useAction({
    run: (graceHours: number) =>
      answered(
        client.POST('/tokens/{nonce}/rotate', { params: { path: { nonce: token.nonce } }, body: { graceHours } }),
      ),
    touches: [TOKENS],
    onDone: onMinted,
    tellsFailure: true,
  });
  return (
    <Stack>
      <Text size="sm">Creates a new key with the same names, limits, budget and lifetime. {whatHappens(token)}</Text>
      <Group grow align="flex-start">
        <Select
          label="Old key expires"
          data={GRACES}
          value={grace}
          onChange={(value) => setGrace(value ?? '0')}
          allowDeselect={false}
          data-autofocus
        />
        {grace === OTHER && (
          <NumberInput
            label="Hours"
            min={0}
            max={MOST_HOURS}
            clampBehavior="blur"
            allowDecimal={false}
            value={hours}
            onChange={setHours}
          />
        )}
      </Group>
      {rotate.isError && <FailureAlert error={rotate.error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" disabled={isHeld} onClick={onClose}>
          Cancel
        </Button>
        <Button loading={rotate.isPending} onClick={() => rotate.mutate(Number(grace === OTHER ? hours : grace))}>
          Rotate key
        </Button>
      </Group>
    </Stack>
  );
}

function whatHappens({ kind }: Token): string {
  if (kind === 'master') return 'Keys that the old key created expire with it.';
  if (kind === 'cli') return 'This key belongs to a CLI login. Only its user can rotate it.';
  return 'Both keys work until the old one expires, so you can update agents without downtime.';
}
