/** The flag for several services behind one name, as commands.ts lists it. routes.ts reads it. */
export const ROUTE_FLAG = [
  '--route <path=target>',
  'send this path, and what is below it, to another service: /api=8080; may be repeated',
  'repeatable',
] as const;
