import { type FormEvent, useEffect } from "react";
import { Command } from "@/components/Command";
import { ErrorNote } from "@/components/ErrorNote";
import { useLogIn } from "@/features/access/api/logIn";

/** In place of every page while the service does not know who asks. */
export function Login() {
  const logIn = useLogIn();
  useEffect(() => {
    document.title = "Log in · Millrace";
  }, []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get("key")).trim();
    if (key) logIn.mutate(key);
  };
  return (
    <section className="card login">
      <h1>Log in</h1>
      <p className="hint">This service asks for an API key. It is kept in a cookie of this browser for a week.</p>
      <form onSubmit={submit} className="fields">
        <label className="wide">
          API key
          <input name="key" type="password" autoComplete="current-password" placeholder="mlr_…" required autoFocus />
        </label>
        <button type="submit" className="button primary wide" disabled={logIn.isPending}>
          {logIn.isPending ? "Checking…" : "Log in"}
        </button>
      </form>
      {logIn.error && <ErrorNote error={logIn.error} />}
      <p className="hint">An admin makes keys; the first one is made on the machine of the service:</p>
      <Command text="millrace farm key add NAME" />
    </section>
  );
}
