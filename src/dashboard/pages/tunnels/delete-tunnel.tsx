/** Asks before a tunnel is deleted. */
import type { Tunnel } from '../../api/types.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { useDeleteTunnel } from './use-tunnel-actions.ts';

interface DeleteTunnelProps {
  /** What it is about; stays while the dialog closes. */
  readonly tunnel: Tunnel | undefined;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onDone?: () => void;
}

export function DeleteTunnel({ tunnel, opened, onClose, onDone }: DeleteTunnelProps) {
  const remove = useDeleteTunnel(() => {
    onClose();
    onDone?.();
  });
  return (
    <Confirm
      title={`Delete the tunnel ${tunnel?.subdomain ?? ''}?`}
      action="Delete tunnel"
      opened={opened}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => tunnel !== undefined && remove.mutate(tunnel)}
      onClose={() => {
        remove.reset();
        onClose();
      }}
    >
      Its agent is disconnected, and visitors see that there is no tunnel. Its access control and policy are deleted,
      and its domains lead nowhere. The name has a cooldown of 24 hours.
    </Confirm>
  );
}
