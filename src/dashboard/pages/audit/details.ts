/** An audit event in words: its object, its details and what was changed; and the page of its object. Pure: tested without a browser. */
import type { Schemas } from '../../api/types.ts';
import { clockText, timeOf } from '../../parts/format.ts';
import { changeWords, plain } from './changes.ts';

type Event = Schemas['AuditEvent'];
type Details = Event['details'];

/** Name of the object, for people; undefined: it has none. `known`: what the page knows about events of older versions. */
export function nameOf({ resourceName, resourceType }: Event, known?: string): string | undefined {
  if (resourceName === null) return known;
  return resourceType === 'alert' ? resourceName.replaceAll('_', ' ') : resourceName;
}

/** "grace hours 24", "Role: viewer → member"; without what the name and the changes say already. */
export function moreWords({ details, changes, resourceName }: Event): readonly string[] {
  const said = new Set(changes.flatMap(({ field }) => [field, field.split('.', 1)[0]]));
  const rest = Object.entries(details ?? {}).filter(([name, value]) => value !== resourceName && !said.has(name));
  return [...detailWords(Object.fromEntries(rest)), ...changes.map(changeWords)];
}

/** "bob@example.com", "viewer → member", "grace hours 24"; in this order. */
export function detailWords(details: Details): readonly string[] {
  if (details === null) return [];
  const { from, to, ...rest } = details;
  const isChange = from !== undefined && to !== undefined;
  const others = isChange ? rest : details;
  return [
    ...Object.entries(others).flatMap(([name, value]) => sayOne(name, value)),
    ...(isChange ? [`${plain(from)} → ${plain(to)}`] : []),
  ];
}

/** What says by itself what it is. */
const SPEAKING: ReadonlySet<string> = new Set(['name', 'email', 'subdomain', 'domain', 'slug', 'role', 'reason']);

function sayOne(name: string, value: string | number | boolean | null): readonly string[] {
  if (value === null || value === '' || value === false) return [];
  if (SPEAKING.has(name)) return [String(value)];
  const words = name.replaceAll('_', ' ').replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
  if (value === true) return [words];
  if (typeof value === 'number' && words.endsWith(' at')) return [`${words} ${clockText(timeOf(value))}`];
  return [`${words} ${plain(value)}`];
}

/** Where one thing of a kind is shown. */
const ONE: Readonly<Record<string, string>> = {
  tunnel: '/tunnels/',
  network: '/networks/',
  webhook_receiver: '/webhooks/',
};
/** Where all things of a kind are. */
const ALL: Readonly<Record<string, string>> = {
  organization: '/organization',
  member: '/members',
  invitation: '/members',
  token: '/keys',
  project: '/projects',
  reserved_subdomain: '/names',
  domain: '/domains',
  billing: '/billing',
  connection: '/connections',
  network_device: '/networks',
};
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The page of the thing; undefined where there is none, or not any more. */
export function pageOf({ action, resourceType, resourceId }: Event): string | undefined {
  const isGone = action.endsWith('.delete') || action === 'tunnel.expire';
  const one = ONE[resourceType];
  if (one === undefined) return ALL[resourceType];
  if (isGone || !UUID.test(resourceId)) return undefined;
  return one + resourceId;
}
