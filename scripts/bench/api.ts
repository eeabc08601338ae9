/** The REST API of a server that is measured, asked as the account that its first start made. */

export interface Owner {
  /** An access token: 15 minutes, longer than any scenario. */
  readonly bearer: string;
  /** One call; the body of its answer. Throws when it is refused. */
  call(method: string, path: string, body?: object): Promise<unknown>;
}

/** Logs in: as the account that the first start made, or another; for its own organization, or another of its. */
export async function ownerOf({
  apiPort,
  password,
  email = 'admin@localhost',
  orgId,
}: {
  readonly apiPort: number;
  readonly password: string;
  readonly email?: string;
  readonly orgId?: string;
}): Promise<Owner> {
  const ask = async (method: string, path: string, body?: object, bearer?: string): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${apiPort}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const login = await ask('POST', '/auth/login', { email, password });
  const own = stringIn(login, 'access_token');
  const switched = orgId === undefined ? login : await ask('POST', '/auth/switch-org', { org_id: orgId }, own);
  const bearer = stringIn(switched, 'access_token');
  return { bearer, call: (method, path, body) => ask(method, path, body, bearer) };
}

/** Id of the tunnel with this name. Throws when there is none. */
export async function tunnelId(owner: Owner, subdomain: string): Promise<string> {
  const answer = await owner.call('GET', '/tunnels');
  const list: readonly unknown[] = Array.isArray(answer) ? answer : [];
  const found = list.find((one) => stringIn(one, 'subdomain') === subdomain);
  return stringIn(found, 'id');
}

/** A text in an answer of the API. Throws when it is not there. */
export function stringIn(value: unknown, key: string): string {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  if (typeof found !== 'string') throw new Error(`an answer of the API has no ${key}`);
  return found;
}
