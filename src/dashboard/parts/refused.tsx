/** Why a form was refused, where no field of it can show it. */
import { Alert } from '@mantine/core';

export function Refused({ children }: { readonly children: string | undefined }) {
  if (children === undefined) return null;
  return (
    <Alert color="red" role="alert" variant="light" className="culvert-wrap">
      {children}
    </Alert>
  );
}
