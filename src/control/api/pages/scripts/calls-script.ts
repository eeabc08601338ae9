/**
 * `calls.js`, for every page under `/app/`: requests to this server's API, and to nothing else. The access token lives in this module alone:
 * in no storage, no address, no element.
 */
export const CALLS_SCRIPT = String.raw`import { here } from './parts.js';

const api = new URL('../', here);
const session = { accessToken: undefined };

/** The address of the API, as 'culvert login --server' takes it. */
export const server = api.href.replace(/\/$/, '');

/** From now on requests are made with this access token; without one, as nobody. */
export function actWith(token) {
  session.accessToken = token;
}

/** Status 0: there was no answer. */
export async function call(method, path, body) {
  const headers = {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (session.accessToken !== undefined) headers.authorization = 'Bearer ' + session.accessToken;
  try {
    const answer = await fetch(new URL(path, api), {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: 'same-origin',
      cache: 'no-store',
    });
    return { status: answer.status, body: await answer.json() };
  } catch {
    return { status: 0, body: { message: 'The server does not answer. Try again in a moment.' } };
  }
}

/** Another tab may be at it with the same cookie: then the server says when to come back, and the new cookie is there. */
async function swapCookie() {
  const first = await call('POST', 'auth/refresh');
  const seconds = first.body.retry_after_seconds;
  if (first.status !== 401 || seconds === undefined) return first;
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  return call('POST', 'auth/refresh');
}

/** Takes up the session that the browser's cookie belongs to. */
export async function refresh() {
  const answer = await swapCookie();
  session.accessToken = answer.status === 200 ? answer.body.access_token : undefined;
  return answer;
}

/** For whom a token acts, and for which organization of theirs. */
function holderOf(token) {
  const claims = token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/');
  const { sub, org } = JSON.parse(atob(claims));
  return sub + ' ' + org;
}

/**
 * The access token lives 15 minutes, and the page may have been open for longer: then it gets a new one first. When another tab has signed
 * somebody else in meanwhile, or switched the organization, the page shows what is no longer so: then it is a 401.
 */
export async function callSignedIn(method, path, body) {
  const before = session.accessToken;
  const first = await call(method, path, body);
  if (first.status !== 401 || (await refresh()).status !== 200) return first;
  if (holderOf(before) !== holderOf(session.accessToken)) return first;
  return call(method, path, body);
}
`;
