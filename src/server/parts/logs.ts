/** What leaves the server about its requests: the access log, the export of the server, and those of organizations. */
import { systemClock } from '../../base/clock.ts';
import type { Lifecycle } from '../../base/process/lifecycle.ts';
import type { ControlPlane } from '../../control/open.ts';
import { serverSheet } from '../../control/operator/exposition.ts';
import { AuditTail } from '../../control/organizations/export/audit-tail.ts';
import type { AccessWriter } from '../access-log/access-writer.ts';
import { openAccessWriter } from '../access-log/open.ts';
import { SCRAPER } from '../metrics/metrics.ts';
import { readHeaders } from '../otlp/headers-file.ts';
import { ServerExport } from '../otlp/server-export.ts';
import type { Starting } from './starting.ts';

export interface LogParts {
  /** null: it is off. */
  readonly accessLog: AccessWriter | null;
  readonly serverExport: ServerExport | null;
}

/** To be called before the data node starts: they close after it, with its last entries. */
export function openLogs(life: Lifecycle, starting: Starting, control: ControlPlane): LogParts {
  life.onClose('exports', () => control.exporter.close());
  return { accessLog: openAccessLog(life, starting, control), serverExport: openServerExport(life, starting, control) };
}

function openAccessLog(
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

function openServerExport(life: Lifecycle, { settings, options, log }: Starting, control: ControlPlane) {
  const { endpoint, headers_file: headersFile, signals } = settings.export.otlp;
  if (endpoint === null) return null;
  const { version } = options;
  const resource = {
    'service.name': 'culvert',
    'service.version': version,
    'service.instance.id': control.serverId,
  };
  const audit = new AuditTail(control.store.db);
  const made = new ServerExport(
    { endpoint, signals, resource, headers: () => readHeaders(headersFile) },
    {
      nextAudit: () => audit.nextItems(),
      metrics: async () => serverSheet(await control.operatorMetrics.figures(SCRAPER), version).metrics(),
      clock: systemClock,
      log: log.child({ part: 'export' }),
    },
  );
  const end = control.accessFeed.subscribe((entries) => made.take(entries));
  made.start();
  life.onClose('export', async () => {
    end();
    await made.close();
  });
  return made;
}
