/** The organization's export: its events, its destinations (collector, webhook), and their state. */
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { OneTimeSecret, OneTimeSecretModal } from '../../parts/dialogs/one-time-secret.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { ExportForm } from './export-form.tsx';

/** Batches are sent every second; the page needs fewer updates. */
const AGAIN_MS = 5_000;

export function ExportPage() {
  const { client } = useApi();
  const { id } = useAccount().active_org;
  // Until its dialog is closed, and nowhere else.
  const [secret, setSecret] = useState<string | null>(null);
  const saved = useQuery({
    queryKey: ['orgs', id, 'export'],
    queryFn: ({ signal }) => answered(client.GET('/orgs/{id}/export', { params: { path: { id } }, signal })),
    refetchInterval: AGAIN_MS,
  });
  return (
    <Page
      title="Export"
      about="Send requests, audit and security events of this organization to an OpenTelemetry collector or a webhook."
    >
      <Loaded query={saved}>
        {(now) => <ExportForm saved={now} onSaved={({ webhook }) => setSecret(webhook?.new_secret ?? null)} />}
      </Loaded>
      <SigningSecret secret={secret} onClose={() => setSecret(null)} />
    </Page>
  );
}

function SigningSecret({ secret, onClose }: { readonly secret: string | null; readonly onClose: () => void }) {
  return (
    <OneTimeSecretModal opened={secret !== null} onClose={onClose} title="Signing secret">
      {secret !== null && (
        <OneTimeSecret label="The signing secret, shown once">
          <Text size="sm">
            Your service checks the header webhook-signature with this secret (Standard Webhooks). Copy it now. You
            won&apos;t see it again.
          </Text>
          <CopyLine value={secret} what="the signing secret" />
        </OneTimeSecret>
      )}
    </OneTimeSecretModal>
  );
}
