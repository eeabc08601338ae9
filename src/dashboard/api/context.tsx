/** The signed-in user and an API client for them, as context for all pages. Provided once by app.tsx. */
import { createContext, useContext, useSyncExternalStore } from 'react';
import { useQuery } from '@tanstack/react-query';
import { type ApiClient, answered } from './client.ts';
import type { Session, SessionState } from './session.ts';
import { type Account, ROLES, type Role } from './types.ts';

export interface ApiContext {
  /** Where the API is, with a slash at its end. */
  readonly url: URL;
  readonly session: Session;
  readonly client: ApiClient;
}

const Context = createContext<ApiContext | null>(null);
const AccountContext = createContext<Account | null>(null);

export const ApiProvider = Context.Provider;
export const AccountProvider = AccountContext.Provider;

export function useApi(): ApiContext {
  const api = useContext(Context);
  if (api === null) throw new Error('no ApiProvider around');
  return api;
}

export function useSessionState(): { readonly state: SessionState; readonly epoch: number } {
  const { session } = useApi();
  const state = useSyncExternalStore(session.subscribe, () => session.state);
  const epoch = useSyncExternalStore(session.subscribe, () => session.epoch);
  return { state, epoch };
}

/** `GET /auth/me`; the shell asks, pages use `useAccount`. */
export function useAccountQuery() {
  const { client } = useApi();
  return useQuery({ queryKey: ['me'], queryFn: ({ signal }) => answered(client.GET('/auth/me', { signal })) });
}

/** The signed-in user; for everything inside the shell. */
export function useAccount(): Account {
  const account = useContext(AccountContext);
  if (account === null) throw new Error('no user is logged in here');
  return account;
}

/** Whether the role in the active organization is at least this one: what is not allowed is not offered. The server decides all the same. */
export function useMay(least: Role): boolean {
  const { role } = useAccount().active_org;
  return ROLES.findIndex((one) => one === role) >= ROLES.indexOf(least);
}
