/** Dialogs of a tunnel, opened from the list and from its own page. */
import type { Tunnel } from '../../api/types.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useBeginMaintenance, useDeleteTunnel, useStop } from './use-tunnel-actions.ts';

interface StopTunnelProps {
  /** What it is about; stays while the dialog closes. */
  readonly tunnel: Tunnel | undefined;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Confirms that a tunnel with an agent is stopped. One without an agent is stopped at once: no connection is cut off. */
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
      Its agent is disconnected, and visitors see an offline page, until you start the tunnel again. Access control,
      policy and name stay.
    </Confirm>
  );
}

interface DeleteTunnelProps {
  /** What it is about; stays while the dialog closes. */
  readonly tunnel: Tunnel | undefined;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onDone?: () => void;
}

/** Asks before a tunnel is deleted. */
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
      Its agent is disconnected, and visitors get 404. Access control and policy are deleted, and custom domains are
      unbound. The name has a cooldown of 24 hours.
    </Confirm>
  );
}

interface BeginMaintenanceProps {
  /** What it is about; stays while the dialog closes. */
  readonly tunnel: Tunnel | undefined;
  /** For its visitors; empty: the edge's own words. */
  readonly message?: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onDone?: () => void;
}

/** Confirms that maintenance blocks the visitors of a tunnel that is online. */
export function BeginMaintenance({ tunnel, message = '', opened, onClose, onDone }: BeginMaintenanceProps) {
  const begin = useBeginMaintenance({ tellsFailure: true });
  const close = (): void => {
    begin.reset();
    onClose();
  };
  const isTcp = tunnel?.protocol === 'tcp';
  return (
    <Confirm
      title={`Start maintenance for ${tunnel?.subdomain ?? ''}?`}
      action="Start maintenance"
      opened={opened}
      isBusy={begin.isPending}
      error={begin.error}
      onConfirm={() => {
        if (tunnel === undefined) return;
        const onSuccess = (): void => {
          close();
          onDone?.();
        };
        begin.mutate({ tunnel, message }, { onSuccess });
      }}
      onClose={close}
    >
      {isTcp
        ? 'Blocks all visitors, until you end maintenance or the agent disconnects.'
        : `Visitors get 503 with ${message === '' ? 'a notice' : 'your message'}, until you end maintenance or the agent disconnects.`}
    </Confirm>
  );
}
