/** What is written: the things of the API that an owner creates and deletes, how many there may be, and where they are listed. */

export interface Kind {
  readonly name: string;
  /** Of the list, and of `POST`; a thing is at `path/id`. */
  readonly path: string;
  /** The field by which a thing is known. */
  readonly id: string;
  /** How many are kept at once: less than the server allows. */
  readonly most: number;
  readonly body: (unique: string) => object;
  /** Whether `PATCH` gives it another `name`. */
  readonly canRename: boolean;
}

export const KINDS: readonly Kind[] = [
  {
    name: 'tunnels',
    path: '/tunnels',
    id: 'id',
    most: 600,
    body: (unique) => ({ localPort: 3000, subdomain: `t${unique}` }),
    canRename: false,
  },
  {
    name: 'reserved subdomains',
    path: '/reserved-subdomains',
    id: 'id',
    most: 300,
    body: (unique) => ({ subdomain: `r${unique}` }),
    canRename: false,
  },
  {
    name: 'projects',
    path: '/projects',
    id: 'slug',
    most: 150,
    body: (unique) => ({ slug: `p${unique}`, name: unique }),
    canRename: true,
  },
  {
    name: 'access keys',
    path: '/tokens',
    id: 'nonce',
    most: 150,
    body: (unique) => ({ name: unique }),
    canRename: false,
  },
  {
    name: 'domains',
    path: '/domains',
    id: 'id',
    most: 60,
    body: (unique) => ({ domain: `d${unique}.example.com` }),
    canRename: false,
  },
  {
    name: 'metrics keys',
    path: '/metrics/keys',
    id: 'id',
    most: 10,
    body: (unique) => ({ name: unique }),
    canRename: false,
  },
];
