/** The listeners of a server's settings that have a fixed port. */
import type { Settings } from '../../config/schema.ts';
import type { PortToCheck } from './port-check.ts';

export function listenersOf({ api, edge, agents }: Settings): PortToCheck[] {
  const all = [
    { key: 'edge.http_listen', at: edge.http_listen },
    { key: 'edge.https_listen', at: edge.https_listen },
    { key: 'agents.listen', at: agents.listen },
    { key: 'api.listen', at: api.listen },
  ];
  return all.flatMap(({ key, at }) => (at === null || at.port === 0 ? [] : [{ key, ...at }]));
}
