/** Addresses of the inspector: the filters, the request that is open, and the one that it is compared with. Pure: tested without a browser. */
import { type Filter, searchOf } from './filter.ts';

export interface Chosen {
  /** The request that is open. */
  readonly request?: string;
  /** The one that it is compared with; alone: the reader is to choose the other. */
  readonly against?: string;
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Reads the query of the page's address: what is no ID is dropped, for a link may hold anything. */
export function chosenIn(search: string): Chosen {
  const asked = new URLSearchParams(search);
  const id = (name: string): string | undefined => {
    const value = asked.get(name) ?? '';
    return UUID.test(value) ? value.toLowerCase() : undefined;
  };
  const [request, against] = [id('request'), id('against')];
  return { ...(request !== undefined && { request }), ...(against !== undefined && { against }) };
}

/** The list, with the chosen request beside it. */
export function listHref(filter: Filter, chosen: Chosen = {}): string {
  return withQuery('/inspector', filter, chosen);
}

/** The page of one request; it leads back to the list that it was chosen in. */
export function requestHref(id: string, filter: Filter, against?: string): string {
  return withQuery(`/inspector/${id}`, filter, against === undefined ? {} : { against });
}

function withQuery(path: string, filter: Filter, chosen: Chosen): string {
  const query = new URLSearchParams(searchOf(filter));
  for (const [name, value] of Object.entries(chosen)) query.set(name, String(value));
  const search = query.toString();
  return search === '' ? path : `${path}?${search}`;
}
