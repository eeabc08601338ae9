/** What the server does by itself: email, outgoing webhooks, looks at disk and health, jobs of the clock. */
import { systemClock } from '../../base/clock.ts';
import type { Lifecycle } from '../../base/process/lifecycle.ts';
import { startJobs } from '../../control/core/jobs.ts';
import type { ControlPlane } from '../../control/open.ts';
import { scheduleBackups } from '../backup/schedule.ts';
import { startMail } from '../mail.ts';
import type { Starting } from './starting.ts';

/** Webhooks that are on their way at a close get this long; then they are sent again after the next start. */
const FORWARDS_STOP_MS = 1_000;

/** Resolves once the health of the server is known. */
export async function startBackground(
  life: Lifecycle,
  { settings, options, log, late }: Starting,
  control: ControlPlane,
): Promise<void> {
  const mailLog = log.child({ plane: 'control', part: 'mail' });
  life.onClose('mail', startMail({ control, apiUrl: () => late.apiUrl, log: mailLog }));
  control.forwarder.start();
  life.onClose('outgoing webhooks', () => control.forwarder.stop(FORWARDS_STOP_MS));
  life.onClose('disk space check', control.disk.start());
  life.onClose('database file watch', control.store.watchFile());
  await control.health.look();
  life.onClose('health checks', control.health.start(options.logLines));
  const backups = scheduleBackups({ settings, options, log }, control);
  life.onClose('backups', () => backups.close());
  const jobs = [...control.jobs, ...backups.jobs];
  life.onClose('jobs', startJobs({ ...control, jobs, clock: systemClock, log }));
}
