/** Start, stop and delete, at the head of a tunnel's page. */
import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlayerPlay, IconPlayerStop, IconTrash } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { useMay } from '../../api/context.tsx';
import { DeleteTunnel } from './delete-tunnel.tsx';
import { StopTunnel } from './stop-tunnel.tsx';
import { useStart, useStop } from './use-tunnel-actions.ts';
import type { TunnelDetail } from './tunnel-queries.ts';
import { isShut } from './tunnel-state.ts';

/** Nothing for those who may only watch. `now`: Unix milliseconds. */
export function HeadActions({ tunnel, now }: { readonly tunnel: TunnelDetail; readonly now: number }) {
  const [, navigate] = useLocation();
  const [deleting, { open, close }] = useDisclosure(false);
  const [stopping, askStop] = useDisclosure(false);
  const start = useStart();
  const stop = useStop();
  if (!useMay('member')) return null;
  return (
    <>
      {isShut(tunnel, now) ? (
        <Button
          leftSection={<IconPlayerPlay size={16} />}
          loading={start.isPending}
          onClick={() => start.mutate(tunnel)}
        >
          Start
        </Button>
      ) : (
        <Button
          variant="default"
          leftSection={<IconPlayerStop size={16} />}
          loading={stop.isPending}
          onClick={() => (tunnel.online ? askStop.open() : stop.mutate(tunnel))}
        >
          Stop
        </Button>
      )}
      <Tooltip label="Delete tunnel">
        <ActionIcon variant="default" size={36} onClick={open} aria-label="Delete tunnel">
          <IconTrash size={16} />
        </ActionIcon>
      </Tooltip>
      <StopTunnel tunnel={tunnel} opened={stopping} onClose={askStop.close} />
      <DeleteTunnel
        tunnel={tunnel}
        opened={deleting}
        onClose={close}
        onDone={() => navigate('/tunnels', { replace: true })}
      />
    </>
  );
}
