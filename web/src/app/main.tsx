import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "@/app/App";
import { ApiError } from "@/lib/api/http";
import "@/app/styles.css";

// An answer that says no stays no; only a service that does not answer is worth a second try.
const worthRetrying = (count: number, error: Error) =>
  count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500);

const client = new QueryClient({
  defaultOptions: { queries: { retry: worthRetrying, retryDelay: 800, staleTime: 1000, networkMode: "always" } },
});

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
