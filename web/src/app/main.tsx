import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "@/app/App";
import { ME_KEY } from "@/lib/api/access";
import { ApiError } from "@/lib/api/http";
import "@/app/styles.css";

// An answer that says no stays no; only a service that does not answer is worth a second try.
const worthRetrying = (count: number, error: Error) =>
  count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500);

const isStranger = (error: Error): boolean => error instanceof ApiError && error.status === 401;

const client: QueryClient = new QueryClient({
  // A key that was revoked or has run out: who asks is looked up again, and the login takes the place of the page.
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (isStranger(error) && query.queryKey[0] !== ME_KEY[0]) void client.resetQueries({ queryKey: ME_KEY });
    },
  }),
  defaultOptions: { queries: { retry: worthRetrying, retryDelay: 800, staleTime: 1000, networkMode: "always" } },
});

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
