// The forms of /docs: each sends its request to this service and shows the answer.

const LONGEST = 200000; // characters of an answer that are shown

for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

async function send(form) {
  const shown = form.querySelector("pre");
  shown.hidden = false;
  shown.textContent = "...";
  const { path, query, headers } = partsOf(form);
  const key = document.getElementById("key").value.trim();
  if (key) headers.set("Authorization", `Bearer ${key}`);
  const body = form.elements.body?.value;
  if (body !== undefined) headers.set("Content-Type", "application/json");
  try {
    const answer = await fetch(path + (query.size ? `?${query}` : ""), { method: form.dataset.method, headers, body });
    shown.textContent = `${answer.status} ${answer.statusText}\n${pretty(await answer.text())}`;
  } catch (error) {
    shown.textContent = String(error);
  }
}

/** What the fields of a form say: the path with its parameters, the query and the headers that are given. */
function partsOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = new Headers();
  for (const input of form.querySelectorAll("input")) {
    const value = input.value;
    if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(value));
    else if (value && input.dataset.in === "query") query.append(input.name, value);
    else if (value) headers.set(input.name, value);
  }
  return { path, query, headers };
}

function pretty(text) {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    // not JSON: as it came
  }
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}\n... ${shown.length - LONGEST} more characters` : shown;
}
