/** Confirms that maintenance blocks the visitors of a tunnel that is online. */
import type { Tunnel } from '../../api/types.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { useBeginMaintenance } from './use-tunnel-actions.ts';

interface BeginMaintenanceProps {
  /** What it is about; stays while the dialog closes. */
  readonly tunnel: Tunnel | undefined;
  /** For its visitors; empty: the edge's own words. */
  readonly message?: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onDone?: () => void;
}

export function BeginMaintenance({ tunnel, message = '', opened, onClose, onDone }: BeginMaintenanceProps) {
  const begin = useBeginMaintenance({ tellsFailure: true });
  const close = (): void => {
    begin.reset();
    onClose();
  };
  const isTcp = tunnel?.protocol === 'tcp';
  return (
    <Confirm
      title={`Begin maintenance of ${tunnel?.subdomain ?? ''}?`}
      action="Begin maintenance"
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
        ? 'Visitors are refused from now on, until it is ended or the agent disconnects.'
        : `Visitors get 503 with ${message === '' ? 'a notice' : 'your words'} from now on, until it is ended or the agent disconnects.`}
    </Confirm>
  );
}
