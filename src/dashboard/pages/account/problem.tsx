/** Why a form of this page was refused, where no field can show it. */
import { Alert } from '@mantine/core';

export function Problem({ children }: { readonly children: string | undefined }) {
  if (children === undefined) return null;
  return (
    <Alert color="red" role="alert" variant="light">
      {children}
    </Alert>
  );
}
