/** The REST API of a server in a network namespace, asked from there. By curl: this process is elsewhere. */
import type { Processes } from '../bench/processes.ts';

export interface ApiPlace {
  readonly netns: string;
  readonly url: string;
  readonly bearer: string;
}

/** The server's owner, for 15 minutes. */
export async function logInInside(
  processes: Processes,
  place: Omit<ApiPlace, 'bearer'>,
  password: string,
): Promise<ApiPlace> {
  const body = { email: 'admin@localhost', password };
  const { access_token } = await callInside(processes, { ...place, bearer: '' }, ['POST', '/auth/login', body]);
  return { ...place, bearer: String(access_token) };
}

/** One call; the answer's body. Throws when it is refused. */
export async function callInside(
  processes: Processes,
  { netns, url, bearer }: ApiPlace,
  [method, path, body]: readonly [method: string, path: string, body?: object],
): Promise<Record<string, unknown>> {
  const sent = body === undefined ? [] : ['-d', JSON.stringify(body)];
  const shown = bearer === '' ? [] : ['-H', `Authorization: Bearer ${bearer}`];
  const command = ['curl', '-sS', '-m', '10', '-X', method, ...shown];
  const outcome = await processes.run(
    [...command, '-H', 'Content-Type: application/json', ...sent, '-w', '\n%{http_code}', `${url}${path}`],
    { netns },
  );
  const end = outcome.stdout.lastIndexOf('\n');
  const status = Number(outcome.stdout.slice(end + 1));
  const text = outcome.stdout.slice(0, end);
  if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text} ${outcome.stderr}`);
  return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
}
