/** What visitors of a tunnel are asked for. */
import { Alert, Stack } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { BasicPanel } from './basic-panel.tsx';
import type { TunnelDetail } from './tunnel-queries.ts';
import { VisitorPanel } from './visitor-panel.tsx';

export function GatesTab({ tunnel }: { readonly tunnel: TunnelDetail }) {
  if (tunnel.protocol === 'tcp') return <NothingForTcp />;
  return (
    <Stack gap="md">
      <BasicPanel tunnel={tunnel} />
      <VisitorPanel tunnel={tunnel} />
    </Stack>
  );
}

/** Why a tcp tunnel has none of these. */
function NothingForTcp() {
  return (
    <Alert color="gray" icon={<IconInfoCircle size={18} />}>
      A tcp tunnel carries bytes and knows of no requests, so it has no gates. Its policy can keep addresses out;
      whatever listens on the local port must ask for a password itself.
    </Alert>
  );
}
