/** One person's calls to the API of a server that is measured, over one connection, as a dashboard makes them. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { stringIn } from './api.ts';

interface Said {
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

export class ApiClient {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #token = '';

  constructor(port: number) {
    this.#port = port;
  }

  async logIn(email: string, password: string): Promise<void> {
    this.#take(await this.call('POST', '/auth/login', { email, password }));
  }

  async switchTo(org: string): Promise<void> {
    this.#take(await this.call('POST', '/auth/switch-org', { org_id: org }));
  }

  /** The body of the response, which must be a good one. */
  async call(method: string, path: string, body?: object): Promise<string> {
    return (await this.send(method, path, body)).text;
  }

  /** Body and headers. Throws when it is refused. */
  send(method: string, path: string, body?: object): Promise<Said> {
    const headers = {
      ...(this.#token === '' ? {} : { authorization: `Bearer ${this.#token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const { promise, resolve, reject } = Promise.withResolvers<Said>();
    const sent = request({ host: '127.0.0.1', port: this.#port, method, path, headers, agent: this.#agent });
    sent.on('error', reject);
    sent.on('response', (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(parts).toString();
        if ((answer.statusCode ?? 0) < 300) resolve({ text, headers: answer.headers });
        else reject(new Error(`${method} ${path}: ${answer.statusCode} ${text}`));
      });
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  }

  close(): void {
    this.#agent.destroy();
  }

  #take(answer: string): void {
    this.#token = stringIn(JSON.parse(answer), 'access_token');
  }
}
