/** What leaves the server about its requests: the access log. */
import { systemClock } from '../../base/clock.ts';
import type { Lifecycle } from '../../base/process/lifecycle.ts';
import type { ControlPlane } from '../../control/open.ts';
import type { AccessWriter } from '../access-log/access-writer.ts';
import { openAccessWriter } from '../access-log/open.ts';
import type { Starting } from './starting.ts';

/** Null where it is off. To be called before the data node starts: it closes after that, with the last entries. */
export function openAccessLog(
  life: Lifecycle,
  { settings, options, log }: Starting,
  control: Pick<ControlPlane, 'accessFeed'>,
): AccessWriter | null {
  const writer = openAccessWriter(settings, {
    log: log.child({ part: 'access log' }),
    output: options.output ?? process.stdout,
    now: () => systemClock.now(),
  });
  if (writer === null) return null;
  const end = control.accessFeed.subscribe((entries) => writer.take(entries));
  life.onClose('access log', async () => {
    end();
    await writer.close();
  });
  return writer;
}
