/**
 * The one place where both planes meet: a short list of parts (parts/), in the order in which they stand on each other. Called by cli/serve and by
 * tests; knows no command line, no signals and no standard output. A start that fails half way closes what it opened.
 */
import { setTimeout } from 'node:timers/promises';
import { Lifecycle } from '../base/process/lifecycle.ts';
import { withoutLogged } from '../base/logged-errors.ts';
import type { Settings } from '../config/schema.ts';
import type { Api } from '../control/core/http/context.ts';
import type { ControlPlane } from '../control/open.ts';
import type { CreatedUser } from '../control/auth/accounts/service.ts';
import type { NodeAccess } from '../plane/link.ts';
import type { AdminSocket } from './admin-socket.ts';
import { drainSecondsOf, misplacedSockets } from './held-sockets.ts';
import { type ApiPart, serveApi } from './parts/api.ts';
import { startBackground } from './parts/background.ts';
import { tendCertificates } from './parts/certificates.ts';
import { openFolder } from './parts/folder.ts';
import { openLogs } from './parts/logs.ts';
import { openServices, startNodePart, watchProcess } from './parts/planes.ts';
import { newLate, type Starting } from './parts/starting.ts';
import type { Server, ServerOptions } from './server.ts';
import { startFault } from './start-fault.ts';

export type { Server, ServerOptions } from './server.ts';

/** A disk may be busy when a machine comes up. A request has a caller who waits; a start can wait longer. */
const START_DISK_MS = 60_000;

/** Starts the server on these settings. Throws when the data folder is in use, a listener can't bind, or a file is not as it must be. */
export async function startServer(settings: Settings, options: ServerOptions): Promise<Server> {
  const life = new Lifecycle();
  const starting = { settings, options, log: withoutLogged(options.log), late: newLate(settings) };
  try {
    return await open(life, starting);
  } catch (error) {
    await life.close();
    throw startFault(error, settings);
  }
}

async function open(life: Lifecycle, starting: Starting): Promise<Server> {
  const operators = await openFolder(life, starting);
  const control = openServices(life, starting);
  const { accessLog, serverExport } = openLogs(life, starting, control);
  const { node, failed, certificates, apiSocket } = await startNodePart(life, starting, control);
  watchProcess(life, starting, { control, accessLog, serverExport });
  const { apiTls, watch } = await tendCertificates(life, starting, { control, node, certificates });
  const served = await serveApi(life, starting, { control, apiTls, apiSocket });
  const firstOwner = await welcomeOperators(life, operators, { control, app: served.app });
  await startBackground(life, starting, control);
  const { settings, options, log } = starting;
  const drainSeconds = drainSecondsOf(settings, options.held);
  for (const warning of misplacedSockets(settings, options.held, { ...node.addresses, api: served.api.address }))
    log.warn({}, warning);
  return {
    addresses: { api: served.api.address, ...node.addresses, metrics: served.metrics },
    apiUrl: starting.late.apiUrl,
    firstOwner,
    unseenOwner: firstOwner === undefined ? control.accounts.unseenOwner() : undefined,
    ownerShown: () => control.accounts.ownerShown(),
    reloadCertificates: () => watch.look(),
    reopenLogs: () => accessLog?.reopen(),
    drain: async () => {
      await drain({ ...served, control, node, operators }, drainSeconds * 1_000);
      await life.close();
    },
    close: () => life.close(),
    drainSeconds,
    failed,
  };
}

/** Makes the first account, then serves commands of operators: one of theirs would take its place. */
async function welcomeOperators(
  life: Lifecycle,
  operators: AdminSocket,
  { control, app }: { readonly control: ControlPlane; readonly app: Api },
): Promise<CreatedUser | undefined> {
  // Behind all that may fail: a start that fails must not make an account whose password was never shown.
  const firstOwner = await control.accounts.createFirstOwner();
  // Its password is shown once: it must not be that of an account which a power cut takes.
  if (firstOwner !== undefined) await control.store.durable(START_DISK_MS);
  life.onClose('commands of operators', () => operators.cut());
  operators.serve(app);
  return firstOwner;
}

interface Draining extends Pick<ApiPart, 'api' | 'relayed' | 'liveFeed'> {
  readonly control: ControlPlane;
  readonly node: NodeAccess;
  readonly operators: AdminSocket;
}

/** A request to the API that never gets whole must not hold up the stop: what is left after `graceMs` is the caller's to cut. */
async function drain({ control, node, api, relayed, liveFeed, operators }: Draining, graceMs: number): Promise<void> {
  // The API last: agents that come back for visitors who wait ask it where to dial.
  const endApi = async (): Promise<void> => {
    await node.drain(graceMs);
    control.deviceLogins.endWaits();
    control.mailbox.endWaits();
    await Promise.all([liveFeed.end(), api.drain(), relayed?.drain(), operators.drain()]);
  };
  const patience = new AbortController();
  const over = setTimeout(graceMs, undefined, { signal: patience.signal }).catch(() => undefined);
  await Promise.race([Promise.all([endApi(), control.forwarder.stop(graceMs)]), over]);
  patience.abort();
}
