/** Confirms that a tunnel with an agent is stopped. One without an agent is stopped at once: no connection is cut off. */
import type { Tunnel } from '../../api/types.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { useStop } from './use-tunnel-actions.ts';

interface StopTunnelProps {
  /** What it is about; stays while the dialog closes. */
  readonly tunnel: Tunnel | undefined;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function StopTunnel({ tunnel, opened, onClose }: StopTunnelProps) {
  const stop = useStop({ tellsFailure: true });
  const close = (): void => {
    stop.reset();
    onClose();
  };
  return (
    <Confirm
      title={`Stop the tunnel ${tunnel?.subdomain ?? ''}?`}
      action="Stop tunnel"
      opened={opened}
      isBusy={stop.isPending}
      error={stop.error}
      onConfirm={() => tunnel !== undefined && stop.mutate(tunnel, { onSuccess: close })}
      onClose={close}
    >
      Its agent is disconnected, and visitors see that it is offline, until you start it again. Its access control,
      policy and name stay.
    </Confirm>
  );
}
